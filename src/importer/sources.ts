import type { Kind, Source } from './source.ts'

/** Read when it is wanted: a worker does one thing, and needs one of them. */
const sources: Record<Kind, () => Promise<Source>> = {
  git: async () => (await import('./git/git.ts')).git,
  subversion: async () => (await import('./subversion/subversion.ts')).subversion,
  mercurial: async () => (await import('./mercurial/mercurial.ts')).mercurial,
  tfvc: async () => (await import('./tfvc/tfvc.ts')).tfvc,
}

export function openSource(kind: Kind): Promise<Source> {
  return sources[kind]()
}
