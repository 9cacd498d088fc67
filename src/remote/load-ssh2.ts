/** The SSH library, loaded when the first connection needs it: `--version` and `validate` never pay for it. */
export async function loadSsh2() {
  // A CommonJS module whose names Node finds only in part; the default export has them all.
  const { default: ssh2 } = await import('ssh2');
  return ssh2;
}
