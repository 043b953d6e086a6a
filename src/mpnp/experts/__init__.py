"""Closed-form experts: what features, neighbours and structure say of every node's class, learned from nothing but the context."""
