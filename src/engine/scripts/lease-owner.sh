# `owned FOLDER RUN TOKEN` says whether the lease in that folder is of this run and token; both empty: of no run.
#
# Prints: nothing
owned() {
  r='' t=''
  [ ! -e "$1/owner" ] || while IFS= read -r x; do
    case $x in (run=*) r=${x#*=} ;; (token=*) t=${x#*=} ;; esac
  done <"$1/owner"
  [ "$r" = "$2" ] && [ "$t" = "$3" ]
}
