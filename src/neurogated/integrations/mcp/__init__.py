"""The MCP server: six tools, resources and prompts on one memory, over stdio and HTTP. Importing it loads no SDK."""
