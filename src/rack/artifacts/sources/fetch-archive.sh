# Fetches a runtime's archive into staging.
#
# Uses ../trees/staged-files.sh
# Uses fetch-url.sh
# Needs archive: the file's name in the staging folder
# Needs sha256: the archive's sha256
# Needs url: the archive's URL
# Prints: nothing; fails with disk-full, fetch-failed, wrong-size, wrong-digest
t=$staging
got() {
  fetched "$@"
}
refuse_root "$account"
room
file "$archive" "$sha256" "$total" "$url"
