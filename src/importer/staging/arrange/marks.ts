import { readLines } from './revisions.ts'

/** The commits of revisions by number, at twenty bytes of memory each. */
export async function readMarks(file: string): Promise<(number: number) => string> {
  let ids = Buffer.alloc(20 * 1024)
  for await (const line of readLines(file)) {
    const [mark = '', id = ''] = line.split(' ')
    const at = 20 * Number(mark.slice(1))
    if (at + 20 > ids.length) ids = Buffer.concat([ids], Math.max(ids.length * 2, at + 20))
    ids.write(id, at, 'hex')
  }
  return (number) => ids.toString('hex', 20 * number, 20 * number + 20)
}
