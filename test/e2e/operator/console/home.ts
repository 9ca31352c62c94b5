/** Where a console's pages lie: the printed address without its last part. */
export const homeOf = (url: string): string => url.slice(0, url.indexOf('/enter'))
