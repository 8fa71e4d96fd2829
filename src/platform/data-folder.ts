import { chmodSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codeOf } from './database.ts'
import { StartError } from './errors.ts'

/**
 * Makes the data folder. Everyone may pass through it (the database's account must), nobody may list it;
 * what lies inside guards itself.
 */
export function makeDataFolder(folder: string) {
  try {
    mkdirSync(folder, { recursive: true })
    chmodSync(folder, 0o711)
  } catch (error) {
    throw new StartError(`BELFRY_DATA is "${folder}": it must be a folder that Belfry can make and write to (${codeOf(error)}).`)
  }
}

/**
 * Claims the data folder for this process, or says who has it. The claim is a file with our process id and
 * its start time, so that one left behind by a killed process is known for what it is, even when its id is in use again.
 */
export function claimDataFolder(folder: string): Disposable {
  const path = join(folder, 'belfry.pid')
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, identityOf(process.pid) ?? '')
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        // A link appears whole or not at all: nobody ever reads a half-written claim.
        linkSync(draft, path)
        return { [Symbol.dispose]: () => rmSync(path, { force: true }) }
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error
      }
      const holder = readClaim(path)
      if (holder && identityOf(parseInt(holder, 10)) === holder) {
        throw new StartError(
          `Belfry is already running on ${folder} (process ${parseInt(holder, 10)}). Stop it, or set BELFRY_DATA to another folder.`,
        )
      }
      rmSync(path, { force: true })
    }
    throw new StartError(`Another Belfry is starting on ${folder} at this moment. Try again.`)
  } finally {
    rmSync(draft, { force: true })
  }
}

function readClaim(path: string) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

/** A running process as "id start-time"; without /proc, the id alone. */
export function identityOf(pid: number): string | undefined {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (codeOf(error) !== 'EPERM') return undefined
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the command in parentheses and may hold spaces; the start time is the 22nd.
    const started = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    return `${pid} ${started}`
  } catch {
    return `${pid}`
  }
}
