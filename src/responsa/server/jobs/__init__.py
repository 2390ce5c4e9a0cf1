"""Work that goes on after its request: one job after another, found again after a restart."""
