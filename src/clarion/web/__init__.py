"""What browsers load: the inbox element, and the demo page."""
