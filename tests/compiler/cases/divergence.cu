extern "C" __global__ void collatz(const int* in, int* out, int n){
  int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return;
  long long v=in[i]; int steps=0;
  while(v!=1){ if(steps>200) break; if(v&1){ v=3*v+1; if(v%5==0) {steps+=100; continue;} } else v>>=1; steps++; }
  out[i]=steps;
}
extern "C" __global__ void nested(const int* in, int* out, int n){
  int i=blockIdx.x*blockDim.x+threadIdx.x;
  int acc=0;
  for(int a=0;a<(i%7)+1;a++){
    for(int b=0;b<in[i%n]%5+2;b++){
      if((a*b+i)%3==0) continue;
      if(a+b>8) break;
      acc+=a*10+b;
    }
    if(acc>300 && (i&1)) break;
    acc^=a;
  }
  if(i<n) out[i]=acc;
}
extern "C" __global__ void scan(const int* in, int* out, int n){
  __shared__ int s[256];
  int t=threadIdx.x; int i=blockIdx.x*blockDim.x+t;
  s[t]= i<n? in[i]:0; __syncthreads();
  for(int d=1;d<blockDim.x;d*=2){ int v= t>=d? s[t-d]:0; __syncthreads(); s[t]+=v; __syncthreads(); }
  // binary search
  int lo=0,hi=blockDim.x; int key=(t*37)%101;
  while(lo<hi){ int m=(lo+hi)/2; if(s[m]<key) lo=m+1; else hi=m; }
  if(i<n) out[i]=s[t]*1000+lo;
}
extern "C" __global__ void loopval(const int* in, int* out, int n){
  // uniform counter leaving a divergent loop; join inside before ipdom
  int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return;
  int k=0, r=0, x=in[i]&63;
  for(k=0;k<100;k++){ 
    int w; 
    if(x>k) { w=k*2; if(x==k+7) break; } else { w=k+1; if (k>x+3) break; }
    r+=w;
  }
  out[i]=k*100000+r;
}
extern "C" __global__ void sw(const int* in, int* out, int n){
  int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return;
  int r=0; 
  switch(in[i]&7){ case 0: r=i; break; case 1: r=in[i]*3; case 2: r+=7; break; case 3: for(int k=0;k<(i&15);k++) r+=k; break; case 5: r=-1; break; case 6: return; default: r=99; }
  out[i]=r;
}
__device__ __noinline__ int helper(int a, int* p){ int s=0; for(int k=0;k<a;k++){ s+=p[k&3]; if (s>50) return s*2; } return s; }
extern "C" __global__ void calls(const int* in, int* out, int n){
  int i=blockIdx.x*blockDim.x+threadIdx.x; if(i>=n) return;
  int l[4]; for(int k=0;k<4;k++) l[k]=in[(i+k)%n]&15;
  out[i]=helper(i&31,l)+helper(in[i]&7,l+ (0));
}
extern "C" __global__ void partialbar(const int* in, int* out, int n){
  __shared__ int s[256]; int t=threadIdx.x; int i=blockIdx.x*blockDim.x+t;
  if(i>=n) return;   // exited threads count as arrived
  s[t]=in[i]; __syncthreads();
  int acc=0; for(int k=0;k<=t;k++){ acc+=s[k]; if(acc>5000) break; }
  __syncthreads(); s[t]=acc; __syncthreads();
  out[i]=s[(t/2)]; 
}
