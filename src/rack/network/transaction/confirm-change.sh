# In the second half of a transaction, confirms a network change over a new connection, unless the node has already
# rolled the change back. The script can be sent again, because a confirmed change stays confirmed. The script fails
# with `rolled-back` if the node restored the old settings, and with `no-transaction` if the first half never changed
# anything. The caller defines `putback`, which restores the saved settings.
#
# Uses arm.sh
# Needs transaction: the change's run, token and step, separated by spaces
# Prints: @changed or @unchanged; fails with rolling-back, rolled-back, no-transaction
isours() {
  about "$1" && [ "$ar $at $as" = "$transaction" ]
}
if isours "$rb/confirmed"; then
  drop_outdated
  unchanged
fi
# Checks four times a second while another process works on the transaction.
n=0
while isours "$rb/pending" && ischanging && [ "$n" -lt 240 ]; do
  n=$((n + 1))
  "$R/bin/sleep" 0.25
done
if isours "$rb/pending"; then
  if [ -e "$rb/pending/verdict" ]; then
    if claim "$rb/pending" "$rb/confirmed"; then
      drop_outdated
      disarm
      changed
    fi
  elif claim "$rb/pending" "$rb/rolling"; then
    putback
    disarm
  fi
fi
while isours "$rb/rolling" && isalive "$ap" && [ "$n" -lt 240 ]; do
  n=$((n + 1))
  "$R/bin/sleep" 0.25
done
isours "$rb/rolling" && failed rolling-back 'the node is still restoring its network'
isours "$rb/rolled" && failed rolled-back 'the change was not confirmed in time, so the node restored its network'
failed no-transaction 'the node knows of no such change'
