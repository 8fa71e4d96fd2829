import { help, listen } from '#parts/webhooks/listening/command.ts'
import type { Command } from './command.ts'

export const command: Command = {
  help,
  async run(given, { environment, clock, print, warn }) {
    await listen(given, environment, clock, print, warn)
    return 0
  },
}
