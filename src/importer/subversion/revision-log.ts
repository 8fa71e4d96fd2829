import { closeSync, existsSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'

/** Appends lines of JSON after `length`. Later bytes of a killed run are dropped. */
export function openLog(file: string, length: number) {
  const descriptor = openSync(file, existsSync(file) ? 'r+' : 'w+', 0o600)
  ftruncateSync(descriptor, length)
  let written = length
  let lines: string[] = []
  let waiting = 0
  const flush = () => {
    const bytes = Buffer.from(lines.join(''))
    for (let done = 0; done < bytes.length; ) done += writeSync(descriptor, bytes, done, bytes.length - done, written + done)
    lines = []
    waiting = 0
    written += bytes.length
    return written
  }
  return {
    write(value: object) {
      const line = `${JSON.stringify(value)}\n`
      lines.push(line)
      waiting += line.length
      if (waiting > 1 << 20) flush()
    },
    flush,
    close: () => closeSync(descriptor),
  }
}

/** The lines up to `length`. */
export function readLog(file: string, length: number): string[] {
  if (!existsSync(file)) return []
  return readFileSync(file).toString('utf8', 0, length).split('\n').slice(0, -1)
}
