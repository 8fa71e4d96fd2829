import { isTask, parseMarkdown } from './parse.ts'

/** The text with its task number `index` done or not; undefined if it has no such task. Counts as rendered pages show them. */
export async function toggleTask(text: string, index: number, done: boolean): Promise<string | undefined> {
  const parsed = await parseMarkdown(text)
  const task = parsed?.tokens.filter((_, at, tokens) => isTask(tokens, at))[index]
  const line = task?.map?.[0]
  if (line === undefined) return undefined
  const lines = text.split('\n')
  const before = lines[line] ?? ''
  const after = before.replace(/\[[ x]\] /i, done ? '[x] ' : '[ ] ')
  return lines.with(line, after).join('\n')
}
