"""Front ends for clients of other protocols, on the run engine of the A2A routes."""
