"""Decision rules: admission of proposals, requests to experts, ambiguous targets, and checks of a target."""
