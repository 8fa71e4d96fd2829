/** The lines of what git prints, many at a time. They are bytes, one a character: to decode them all would take longest. */
export async function* lines(chunks: AsyncIterable<Buffer>): AsyncGenerator<string[], void, void> {
  let rest = ''
  for await (const chunk of chunks) {
    const pieces = (rest + chunk.toString('latin1')).split('\n')
    rest = pieces.pop() ?? ''
    if (pieces.length > 0) yield pieces
  }
  if (rest) yield [rest]
}
