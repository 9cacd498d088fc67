/** People write repositories without hf:, as a page's address, or a folder without the leading ./ */
export function sourceAdvice(text: string): string | undefined {
  const page = /^https?:\/\/(?:www\.)?(?:huggingface\.co|hf\.co)\/([\w.-]+\/[\w.-]+)/.exec(text)?.[1];
  if (page !== undefined) return `For a repository, write \`hf:${page}\`.`;
  return /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/.test(text)
    ? `For a Hugging Face repository, write \`hf:${text}\`; for a folder, \`./${text}\`.`
    : undefined;
}
