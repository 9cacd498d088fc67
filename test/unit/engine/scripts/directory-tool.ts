/** A directory service whose records are files in the test's folder, with a line `KEY: VALUE` for each attribute. */

/**
 * dscl for the records below `folder`, a word of sh. If `folder` has a program `refusal`, it runs before every write.
 */
export const directoryTool = (folder: string): string => `shift
f="${folder}/directory$2"
case $1 in
(-list) for x in "$f"/*; do
  [ ! -e "$x" ] || /bin/sed -n "s|^$3:|\${x##*/}|p" "$x"
done ;;
(-read) [ -e "$f" ] || { printf '<dscl_cmd> DS Error: -14136 (eDSRecordNotFound)\\n' >&2; exit 56; }
  /usr/bin/sort "$f" ;;
(-create) [ ! -e "${folder}/refusal" ] || . "${folder}/refusal"
  /bin/mkdir -p "\${f%/*}"
  [ -e "$f" ] || printf 'GeneratedUID: 8A0C52C6-52B1-4E2B-8C55-35C0E5B5F0A4\\n' >"$f"
  [ $# -lt 4 ] || printf '%s: %s\\n' "$3" "$4" >>"$f" ;;
(-delete) [ ! -e "${folder}/refusal" ] || . "${folder}/refusal"
  [ -e "$f" ] || { printf '<dscl_cmd> DS Error: -14136 (eDSRecordNotFound)\\n' >&2; exit 56; }
  /bin/rm "$f" ;;
esac`;

/**
 * `id -u NAME` for the same records and for `mesh`. Every account is in `staff`, unless `folder` has a file `groups`.
 */
export const accountTool = (folder: string): string => `case "$1 $2" in
('-u mesh') printf '4501\\n' ;; # no number of a person who runs these tests
('-g '*) printf '20\\n' ;;
('-G '*) printf '20 12\\n' ;;
('-Gn '*) if [ -e "${folder}/groups" ]; then /bin/cat "${folder}/groups"; else printf 'staff everyone\\n'; fi ;;
(*) /bin/sed -n 's/^UniqueID: //p' "${folder}/directory/Users/$2" 2>/dev/null ;;
esac`;

/** `sudo -l -U NAME`: the file `rules` in `folder` lists what sudo allows every account. */
export const rulesTool = (folder: string): string => `case "$1 $2 $3" in ('-l -n -U') ;; (*) exit 64 ;; esac
if [ -e "${folder}/rules" ]; then /bin/cat "${folder}/rules"; else printf 'User %s is not allowed to run sudo on mac.\\n' "$4"; fi`;
