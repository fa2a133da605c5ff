// text to upper case, byte by byte, and the number of words in it
extern "C" __global__ void upper(const unsigned char* in, unsigned char* out, unsigned* words, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool begins = false;
  if (i < n) {
    unsigned char c = in[i];
    unsigned char before = i ? in[i - 1] : ' ';
    begins = c != ' ' && c != '\n' && (before == ' ' || before == '\n');
    out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
  }
  unsigned votes = __ballot_sync(~0u, begins);
  if ((threadIdx.x & 31) == 0 && votes) atomicAdd(words, __popc(votes));
}
