import { createReadStream, existsSync } from 'node:fs'

/** Reads the ids by mark, as of the last checkpoint. */
export async function readMarks(path: string, visit: (mark: number, id: string) => void) {
  if (!existsSync(path)) return
  let rest = ''
  for await (const chunk of createReadStream(path, 'latin1')) {
    const lines = `${rest}${chunk}`.split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const space = line.indexOf(' ')
      visit(Number(line.slice(1, space)), line.slice(space + 1))
    }
  }
}
