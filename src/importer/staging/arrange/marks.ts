import { readLines } from './revisions.ts'

/** Reads the ids by mark, as of the last checkpoint. */
export async function visitMarks(file: string, visit: (mark: number, id: string) => void) {
  for await (const line of readLines(file)) {
    const space = line.indexOf(' ')
    visit(Number(line.slice(1, space)), line.slice(space + 1))
  }
}

/** The commits of revisions by number, at twenty bytes of memory each. */
export async function readMarks(file: string): Promise<(number: number) => string> {
  let ids = Buffer.alloc(20 * 1024)
  await visitMarks(file, (mark, id) => {
    const at = 20 * mark
    if (at + 20 > ids.length) ids = Buffer.concat([ids], Math.max(ids.length * 2, at + 20))
    ids.write(id, at, 'hex')
  })
  return (number) => ids.toString('hex', 20 * number, 20 * number + 20)
}
