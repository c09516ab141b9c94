"""Goals on offer: admission, requests to the experts, rivals that are too close to call, and tests of a target."""
