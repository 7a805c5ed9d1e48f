/** What `work` comes to, unless that takes longer than `ms`: then raises an Error of these words. The work itself goes on. */
export const inTime = async <T>(work: Promise<T>, ms: number, words: string): Promise<T> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(words)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
};
