# Takes a free lease and prints its token and the boot session of the node; prints who holds it otherwise.
#
# Uses sign-lease.sh
# Words: the lines of the owner file but the run and the token
# Prints: what `take` prints
take "$@"
