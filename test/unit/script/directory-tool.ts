/** A directory that is files in a folder of the test: a line `KEY: VALUE` for each attribute of a record. */

/** dscl over the files below `folder`, a word of sh; a program `refusal` there is run before every write. */
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

/** `id -u NAME` over the same files; every account is in `staff`. */
export const accountTool = (folder: string): string => `case $1 in
(-g) printf '20\\n' ;;
(*) /bin/sed -n 's/^UniqueID: //p' "${folder}/directory/Users/$2" 2>/dev/null ;;
esac`;
