# `owned FOLDER RUN TOKEN` succeeds if RUN has the lease in FOLDER with TOKEN. If RUN and TOKEN are empty, it succeeds
# if no run has signed the lease.
#
# Prints: nothing
owned() {
  r='' t=''
  [ ! -e "$1/owner" ] || while IFS= read -r x; do
    case $x in (run=*) r=${x#*=} ;; (token=*) t=${x#*=} ;; esac
  done <"$1/owner"
  [ "$r" = "$2" ] && [ "$t" = "$3" ]
}
