import type { Kind, Source } from './source.ts'

/** Loaded on demand, because a worker needs one of them. */
const sources: Record<Kind, () => Promise<Source>> = {
  git: async () => (await import('./git/git.ts')).git,
  subversion: async () => (await import('./subversion/subversion.ts')).subversion,
  mercurial: async () => (await import('./mercurial/mercurial.ts')).mercurial,
  tfvc: async () => (await import('./tfvc/tfvc.ts')).tfvc,
}

export function openSource(kind: Kind): Promise<Source> {
  return sources[kind]()
}
