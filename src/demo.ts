import type { Belfry } from '#belfry.ts'
export async function loadDemo(_: Belfry) {}
