import { codeOf } from './unavailable.ts'

const codes = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** What git prints for these. When it makes a repository, it does not say why it cannot write. */
export const diskFullMessage =
  /No space left on device|Out of diskspace|Disk quota exceeded|File too large|file size limit|failed to write new configuration file/i

/** Of git's errors only: others may quote what a client has sent. */
const gitFailed = /^git \S+ failed \(/

export function isDiskFull(error: unknown): boolean {
  if (codes.includes(codeOf(error) ?? '')) return true
  return error instanceof Error && gitFailed.test(error.message) && diskFullMessage.test(error.message)
}
