"""What requests and replies look like; the OpenAPI document is made of these."""
