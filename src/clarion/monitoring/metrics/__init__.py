"""What a process counts about itself: plain numbers, cheap to raise, that `clarion.monitoring` renders and reports."""
