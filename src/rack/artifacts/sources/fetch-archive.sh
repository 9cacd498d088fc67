# Fetches the archive of a runtime into staging.
#
# Uses ../trees/staged-files.sh
# Uses fetch-url.sh
# Needs archive: the name of the file in the staging folder
# Needs sha256: of the archive
# Needs url: the source of the archive
# Prints: nothing; fails with disk-full, fetch-failed, wrong-size, wrong-digest
t=$staging
got() {
  fetched "$@"
}
refuse_root "$account"
room
file "$archive" "$sha256" "$total" "$url"
