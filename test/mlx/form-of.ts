/** Status and type of an answer, and the fields of its JSON or of its events, each with the type of its value. */
export async function formOf(answer: Response): Promise<unknown> {
  const text = await answer.text();
  // The real server also sends comments while it reads a prompt.
  const events = text.split('\n\n').flatMap((event) => /^data: (.*)/s.exec(event)?.[1] ?? []);
  const forms = (events.length > 0 ? events : [text]).map((one) => JSON.stringify(typesIn(parsed(one))));
  const type = answer.headers.get('content-type');
  return { status: answer.status, type, forms: forms.filter((form, at) => form !== forms[at - 1]) };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return Symbol(text);
  }
}

function typesIn(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(typesIn);
  if (typeof value === 'symbol') return `not JSON: ${value.description}`;
  if (typeof value !== 'object' || value === null) return value === null ? value : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort()
      .map(([key, one]) => [key, typesIn(one)]),
  );
}
