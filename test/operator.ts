import { command } from '#cli/admin/admin.ts'
import { type Clock, systemClock } from '#platform/clock.ts'
import { StartError } from '#platform/errors.ts'
import type { Forge } from './forge.ts'

/** Runs `npx belfry admin` in this process, on the database and the data folder of a forge. */
export function operatorOf({ belfry, clock }: Pick<Forge, 'belfry' | 'clock'>, more: Record<string, string> = {}) {
  const { host, user, database } = belfry.db.pool.options
  const url = `postgres://${user}@${encodeURIComponent(`${host}`)}/${database}`
  return openOperator({ BELFRY_DATA: belfry.settings.BELFRY_DATA, DATABASE_URL: url, ...more }, clock)
}

/** The same with these settings. */
export function openOperator(environment: Record<string, string>, clock: Clock = systemClock) {
  const run = async (...given: string[]) => {
    const printed: string[] = []
    const warned: string[] = []
    const terminal = {
      environment,
      clock,
      print: (text: string) => void printed.push(text),
      warn: (text: string) => void warned.push(text),
      untilInterrupted: () => new AbortController().signal,
    }
    try {
      const code = await command.run(given, terminal)
      return { code, stdout: printed.join('\n'), stderr: warned.join('\n') }
    } catch (error) {
      if (!(error instanceof StartError)) throw error
      return { code: 1, stdout: printed.join('\n'), stderr: error.message }
    }
  }
  return {
    run,
    /** What a command that must succeed prints. */
    async text(...given: string[]) {
      const { code, stdout, stderr } = await run(...given)
      if (code !== 0) throw new Error(`belfry admin ${given.join(' ')} gave ${code}: ${stdout} ${stderr}`)
      return stdout
    },
    /** The same as data. */
    // biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape.
    async data(...given: string[]): Promise<any> {
      return JSON.parse(await this.text(...given, '--json'))
    },
  }
}
