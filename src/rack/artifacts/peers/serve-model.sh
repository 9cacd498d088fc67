# Serves a published model's chunks to other Macs until no other Mac needs any more chunks.
#
# Uses peers.sh
# Needs published: the published model's folder
# Prints: nothing; fails with not-published
if [ ! -d "$published" ] || [ -h "$published" ]; then failed not-published 'the model is not published'; fi
refuse_root "$peer_account"
if has_perl; then
  start_peer "$published"
  finish_peer
fi
"$R/bin/rm" -rf "$peers"
