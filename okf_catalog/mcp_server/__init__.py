"""The catalog for agents that speak MCP (Model Context Protocol): tools, resources, two transports.

`questions` and `texts` answer, without the SDK, in processes of their own; `models` says what
goes in and comes out; `server` speaks the protocol. Only `server` and `models` load the SDK.
"""
