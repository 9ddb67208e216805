"""A bundle by somebody who means harm: script in every field, markup that ends what it stands in, odd file names."""

from __future__ import annotations

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>"
EVIL = {
    "a/evil.md": f"""---
type: "{HOSTILE}"
title: "{HOSTILE}"
description: "<!-- <script>alert(1)</script>"
tags: ["{HOSTILE}", "javascript:alert(1)", "__proto__"]
status: "{HOSTILE}"
resource: "javascript:alert(1)"
superseded_by: "javascript:alert(1)"
stale_after: "{HOSTILE}"
generated: {{by: "{HOSTILE}", at: "{HOSTILE}"}}
verified: {{by: "human:{HOSTILE}", at: "{HOSTILE}"}}
sources:
- {{id: s, title: "{HOSTILE}", resource: "javascript:alert(2)", author: "{HOSTILE}", usage_count: "{HOSTILE}", last_modified: "{HOSTILE}"}}
runtime: "{HOSTILE}"
"{HOSTILE}": "{HOSTILE}"
__proto__: {{polluted: true}}
constructor: "{HOSTILE}"
---

# footer

{HOSTILE} [x](javascript:alert(1)) [y](JaVaScRiPt:alert(1)) [d](data:text/html,x) [v](vbscript:x) ![pic](https://tracker.example/p.png)
<iframe src="https://e.example"></iframe> <https://e.example/?a=1&b="> [up](../../../etc/passwd.md) note[^s] [n](<o"dd.md>)
[f](file:///etc/passwd) [p](//e.example/x) <style>*{{display:none}}</style> <base href="https://e.example/"> <meta http-equiv="refresh" content="0;url=https://e.example">

## main

```" onmouseover=alert(1) x="
{HOSTILE}
```

| a |
|:-:|
| {HOSTILE} |

[^s]: {HOSTILE}
""",
    "a/o\"dd '%3F#é<b>&amp;.md": "---\ntype: T\ntitle: odd\n---\n\n# h <b>\n\n[evil](evil.md) [emoji](e%CC%81%20%F0%9F%8C%99%3F.md)\n",
    "a/e\u0301 🌙?.md": "---\ntype: T\n---\n",
    "__proto__.md": "---\ntype: __proto__\ntags: [constructor]\n---\n",
    "b.md": f"no frontmatter {HOSTILE}\n",
    "c.md": '---\ntype: T\ntitle: "</script><!--<script>\\u2028\\0"\n---\n\n<!-- </script> -->\n',
    "huge.md": "---\ntype: T\ntitle: " + "x" * 300_000 + "\ntags: [" + ", ".join(f"t{number}" for number in range(3000)) + "]\n---\n",
    "index.md": f"{HOSTILE}\n\n[x](javascript:alert(1))\n",
    "log.md": f"## {HOSTILE}\n",
}
