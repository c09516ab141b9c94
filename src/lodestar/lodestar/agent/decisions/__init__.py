"""Goals on offer: targets, admission, the question to the user, and the policy's credit."""
