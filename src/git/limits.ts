/** Limits of repositories, and of the clients that fetch and push. */
export interface GitLimits {
  /** Bytes of the largest object, and of what one push sends. */
  object: number
  push: number
  /** Fetches and pushes served at once; requests to the API and pages that run git have as many. */
  processes: number
  /** Seconds that a client may stall while git waits for it. */
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
