# Serves the chunks of a published model to other Macs, until none of them needs it any more.
#
# Uses peers.sh
# Needs published: the folder of the published model
# Prints: nothing; fails with not-published
if [ ! -d "$published" ] || [ -h "$published" ]; then failed not-published 'the model is not published'; fi
refuse_root "$peer_account"
if has_perl; then
  start_peer "$published"
  finish_peer
fi
"$R/bin/rm" -rf "$peers"
