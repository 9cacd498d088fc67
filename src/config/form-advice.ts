/** The keys to write for `user@host` and `host:port`; undefined for other texts. */
export function hostAdvice(text: string): string | undefined {
  const user = /^([A-Za-z_][A-Za-z0-9_.-]*)@(.+)$/.exec(text);
  if (user !== null) return `Write \`user: ${user[1]}\` and \`host: ${user[2]}\`.`;
  const port = /^\[?([A-Za-z0-9.-]+)\]?:([0-9]{1,5})$/.exec(text);
  return port === null ? undefined : `Write \`host: ${port[1]}\` and \`port: ${port[2]}\`.`;
}

/** People write repositories without hf:, as a page's address, or a folder without the leading ./ */
export function sourceAdvice(text: string): string | undefined {
  const page = /^https?:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/([\w.-]+\/[\w.-]+)/.exec(text)?.[1];
  if (page !== undefined) return `For a repository, write \`hf:${page}\`.`;
  return /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/.test(text)
    ? `For a Hugging Face repository, write \`hf:${text}\`; for a folder, \`./${text}\`.`
    : undefined;
}

/** People write the address of a page on GitHub, or leave out `github:`. */
export function runtimeSourceAdvice(text: string): string {
  const address = /^(?:git\+)?(?:https?:\/\/|git@)?(?:www\.)?github\.com[/:]([\w.-]+\/[\w.-]+?)(?:\.git)?(?:[/@#].*)?$/;
  const repository = address.exec(text)?.[1] ?? /^([\w.-]+\/[\w.-]+)(?:@.*)?$/.exec(text)?.[1];
  const commit = /[0-9a-f]{40}/.exec(text)?.[0] ?? 'COMMIT';
  return `Write \`github:${repository ?? 'OWNER/NAME'}@${commit}\`, with all 40 digits of the commit.`;
}

/** In other systems, `replicas` is a number. */
export const valueAdvice = (pointer: string): string | undefined =>
  /^\/placements\/[^/]+\/replicas$/.test(pointer)
    ? 'Write `replicas: per-node`. Every Mac in `nodes` then runs one replica.'
    : undefined;
