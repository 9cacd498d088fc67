# Takes a free lease and prints its token and the node's boot session; if the lease is not free, prints its owner
# instead.
#
# Uses sign-lease.sh
# Arguments: the lines of the owner file, except for the run and the token
# Prints: the output of `take`
take "$@"
