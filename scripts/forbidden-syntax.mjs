/** A linter plugin whose only rule, `forbidden/syntax`, reports each node that a selector of its options matches. */
const syntax = {
  meta: { schema: false },
  create: (context) =>
    Object.fromEntries(
      context.options.map(({ selector, message }) => [selector, (node) => context.report({ node, message })]),
    ),
};

export default { meta: { name: 'forbidden' }, rules: { syntax } };
