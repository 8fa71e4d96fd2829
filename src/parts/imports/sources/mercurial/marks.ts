import { createReadStream, existsSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** What git has under which mark, as of the last checkpoint of a run. */
export async function readMarks(path: string, meet: (mark: number, id: string) => void) {
  if (!existsSync(path)) return
  for await (const line of createInterface({ input: createReadStream(path, 'latin1') })) {
    const [mark = '', id = ''] = line.slice(1).split(' ')
    meet(Number(mark), id)
  }
}
