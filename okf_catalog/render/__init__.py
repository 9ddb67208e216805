"""A bundle as one HTML file: to read, search and look at without a server, a network or a programme but a browser."""
