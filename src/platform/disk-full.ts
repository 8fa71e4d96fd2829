import { codeOf } from './unavailable.ts'

const codes = ['ENOSPC', 'EDQUOT', 'EFBIG']

/** What git prints for these. When it makes a repository, it does not say why it cannot write. */
export const diskFullMessage =
  /No space left on device|Out of diskspace|Disk quota exceeded|File too large|file size limit|failed to write new configuration file/i

export function isDiskFull(error: unknown): boolean {
  return codes.includes(codeOf(error) ?? '') || (error instanceof Error && diskFullMessage.test(error.message))
}
