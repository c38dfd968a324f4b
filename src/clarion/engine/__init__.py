"""The engine: from triggers to messages.

A *lane* is an environment's line of decisions. One unit of work in a lane takes the next triggers and due jobs, loads
what they need, decides step by step in memory and writes everything at once; what only touches the database is finished
there. Steps that need a provider are left to senders, which any number of workers run at the same time.
"""
