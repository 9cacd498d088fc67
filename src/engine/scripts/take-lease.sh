# Takes a free lease and prints its token and the node's boot session; prints the owner if the lease is not free.
#
# Uses sign-lease.sh
# Words: the lines of the owner file except run and token
# Prints: the output of `take`
take "$@"
