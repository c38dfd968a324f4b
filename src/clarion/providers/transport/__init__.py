"""Transport: connections to providers over HTTP and SMTP, behind the egress guard."""
