/** Limits of repositories, and of the clients that fetch and push. */
export interface GitLimits {
  /** Limits of one object and of one push, in bytes. */
  object: number
  push: number
  /** Concurrent fetches and pushes. Requests to the API and pages that run git have the same limit. */
  processes: number
  /** Seconds for which a client may stall. */
  idle: number
}

interface LimitSettings {
  BELFRY_OBJECT_SIZE: number
  BELFRY_PUSH_SIZE: number
  BELFRY_GIT_PROCESSES: number
  BELFRY_GIT_IDLE: number
}

const megabyte = 1 << 20

export const gitLimits = (settings: LimitSettings): GitLimits => ({
  object: settings.BELFRY_OBJECT_SIZE * megabyte,
  push: settings.BELFRY_PUSH_SIZE * megabyte,
  processes: settings.BELFRY_GIT_PROCESSES,
  idle: settings.BELFRY_GIT_IDLE,
})

export const usualLimits = gitLimits({
  BELFRY_OBJECT_SIZE: 100,
  BELFRY_PUSH_SIZE: 2048,
  BELFRY_GIT_PROCESSES: 64,
  BELFRY_GIT_IDLE: 60,
})
