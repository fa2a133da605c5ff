; Made by native/hip/device/make_services.py from services.c beside it.
target datalayout = "e-m:e-p:64:64-p1:64:64-p2:32:32-p3:32:32-p4:64:64-p5:32:32-p6:32:32-p7:160:256:256:32-p8:128:128:128:48-p9:192:256:256:32-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-v2048:2048-n32:64-S32-A5-G1-ni:7:8:9"
target triple = "amdgcn-amd-amdhsa"

@.str = private unnamed_addr addrspace(4) constant [17 x i8] c"-+ #0123456789.*\00", align 1
@.str.1 = private unnamed_addr addrspace(4) constant [7 x i8] c"hljztL\00", align 1
@.str.2 = private unnamed_addr addrspace(4) constant [5 x i8] c"ljzt\00", align 1
@.str.3 = private unnamed_addr addrspace(4) constant [18 x i8] c"diouxXcfFeEgGaAps\00", align 1
@.str.4 = private unnamed_addr addrspace(4) constant [11 x i8] c"fFeEgGaAps\00", align 1

; Function Attrs: nofree noinline norecurse nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define linkonce_odr hidden i32 @aw_hip_vprintf(i64 noundef %0, ptr noundef readonly captures(none) %1, ptr noundef readonly captures(address_is_null) %2, ptr noundef readonly captures(none) %3) local_unnamed_addr #0 {
  %5 = inttoptr i64 %0 to ptr addrspace(1)
  %6 = icmp eq ptr %2, null
  br i1 %6, label %449, label %7

7:                                                ; preds = %4, %13
  %8 = phi i32 [ %14, %13 ], [ 0, %4 ]
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds nuw i8, ptr %2, i64 %9
  %11 = load i8, ptr %10, align 1
  %12 = icmp eq i8 %11, 0
  br i1 %12, label %16, label %13

13:                                               ; preds = %7
  %14 = add nuw nsw i32 %8, 1
  %15 = icmp eq i32 %14, 1024
  br i1 %15, label %16, label %7

16:                                               ; preds = %7, %13
  %17 = phi i32 [ 1024, %13 ], [ %8, %7 ]
  %18 = add nuw i32 %17, 1
  br label %19

19:                                               ; preds = %25, %16
  %20 = phi i32 [ 0, %16 ], [ %26, %25 ]
  %21 = zext nneg i32 %20 to i64
  %22 = getelementptr inbounds nuw i8, ptr %2, i64 %21
  %23 = load i8, ptr %22, align 1
  %24 = icmp eq i8 %23, 0
  br i1 %24, label %28, label %25

25:                                               ; preds = %19
  %26 = add nuw nsw i32 %20, 1
  %27 = icmp eq i32 %26, 1024
  br i1 %27, label %28, label %19

28:                                               ; preds = %25, %19
  %29 = phi i32 [ 1024, %25 ], [ %20, %19 ]
  br label %30

30:                                               ; preds = %165, %28
  %31 = phi i32 [ %166, %165 ], [ 0, %28 ]
  %32 = phi i32 [ %167, %165 ], [ 0, %28 ]
  %33 = phi i32 [ %168, %165 ], [ 0, %28 ]
  %34 = phi i32 [ %170, %165 ], [ 0, %28 ]
  %35 = icmp ult i32 %34, %29
  br i1 %35, label %36, label %171

36:                                               ; preds = %30, %52
  %37 = phi i32 [ %53, %52 ], [ %34, %30 ]
  %38 = add nuw i32 %37, 1
  %39 = zext i32 %37 to i64
  %40 = getelementptr inbounds nuw i8, ptr %2, i64 %39
  %41 = load i8, ptr %40, align 1
  %42 = icmp eq i8 %41, 37
  br i1 %42, label %43, label %52

43:                                               ; preds = %36
  %44 = icmp ult i32 %38, %29
  br i1 %44, label %45, label %78

45:                                               ; preds = %43
  %46 = zext i32 %38 to i64
  %47 = getelementptr inbounds nuw i8, ptr %2, i64 %46
  %48 = load i8, ptr %47, align 1
  %49 = icmp eq i8 %48, 37
  br i1 %49, label %50, label %55

50:                                               ; preds = %45
  %51 = add nuw i32 %37, 2
  br label %52

52:                                               ; preds = %50, %36
  %53 = phi i32 [ %38, %36 ], [ %51, %50 ]
  %54 = icmp ult i32 %53, %29
  br i1 %54, label %36, label %171

55:                                               ; preds = %45, %70
  %56 = phi i32 [ %76, %70 ], [ %38, %45 ]
  %57 = phi i32 [ %75, %70 ], [ %33, %45 ]
  %58 = zext i32 %56 to i64
  %59 = getelementptr inbounds nuw i8, ptr %2, i64 %58
  %60 = load i8, ptr %59, align 1
  br label %66

61:                                               ; preds = %66
  %62 = add nuw nsw i64 %68, 1
  %63 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str, i64 %62
  %64 = load i8, ptr addrspace(4) %63, align 1
  %65 = icmp eq i64 %62, 16
  br i1 %65, label %78, label %66

66:                                               ; preds = %61, %55
  %67 = phi i8 [ %64, %61 ], [ 45, %55 ]
  %68 = phi i64 [ %62, %61 ], [ 0, %55 ]
  %69 = icmp eq i8 %67, %60
  br i1 %69, label %70, label %61

70:                                               ; preds = %66
  %71 = icmp eq i8 %60, 42
  %72 = add i32 %57, 3
  %73 = and i32 %72, -4
  %74 = add i32 %73, 4
  %75 = select i1 %71, i32 %74, i32 %57
  %76 = add nuw nsw i32 %56, 1
  %77 = icmp ult i32 %76, %29
  br i1 %77, label %55, label %78

78:                                               ; preds = %43, %70, %61
  %79 = phi i32 [ %57, %61 ], [ %75, %70 ], [ %33, %43 ]
  %80 = phi i32 [ %56, %61 ], [ %29, %70 ], [ %38, %43 ]
  %81 = icmp ult i32 %80, %29
  br i1 %81, label %82, label %165

82:                                               ; preds = %78, %106
  %83 = phi i32 [ %109, %106 ], [ %80, %78 ]
  %84 = phi i32 [ %108, %106 ], [ 0, %78 ]
  %85 = zext i32 %83 to i64
  %86 = getelementptr inbounds nuw i8, ptr %2, i64 %85
  %87 = load i8, ptr %86, align 1
  br label %93

88:                                               ; preds = %93
  %89 = add nuw nsw i64 %95, 1
  %90 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str.1, i64 %89
  %91 = load i8, ptr addrspace(4) %90, align 1
  %92 = icmp eq i64 %89, 6
  br i1 %92, label %111, label %93

93:                                               ; preds = %88, %82
  %94 = phi i8 [ %91, %88 ], [ 104, %82 ]
  %95 = phi i64 [ %89, %88 ], [ 0, %82 ]
  %96 = icmp eq i8 %94, %87
  br i1 %96, label %102, label %88

97:                                               ; preds = %102
  %98 = add nuw nsw i64 %104, 1
  %99 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str.2, i64 %98
  %100 = load i8, ptr addrspace(4) %99, align 1
  %101 = icmp eq i64 %98, 4
  br i1 %101, label %106, label %102

102:                                              ; preds = %93, %97
  %103 = phi i8 [ %100, %97 ], [ 108, %93 ]
  %104 = phi i64 [ %98, %97 ], [ 0, %93 ]
  %105 = icmp eq i8 %103, %87
  br i1 %105, label %106, label %97

106:                                              ; preds = %102, %97
  %107 = phi i32 [ 0, %97 ], [ 1, %102 ]
  %108 = or i32 %107, %84
  %109 = add nuw nsw i32 %83, 1
  %110 = icmp ult i32 %109, %29
  br i1 %110, label %82, label %165

111:                                              ; preds = %88
  %112 = add nuw i32 %83, 1
  br label %118

113:                                              ; preds = %118
  %114 = add nuw nsw i64 %120, 1
  %115 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str.3, i64 %114
  %116 = load i8, ptr addrspace(4) %115, align 1
  %117 = icmp eq i64 %114, 17
  br i1 %117, label %165, label %118

118:                                              ; preds = %113, %111
  %119 = phi i8 [ %116, %113 ], [ 100, %111 ]
  %120 = phi i64 [ %114, %113 ], [ 0, %111 ]
  %121 = icmp eq i8 %119, %87
  br i1 %121, label %122, label %113

122:                                              ; preds = %118
  %123 = add i32 %32, 1
  br label %129

124:                                              ; preds = %129
  %125 = add nuw nsw i64 %131, 1
  %126 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str.4, i64 %125
  %127 = load i8, ptr addrspace(4) %126, align 1
  %128 = icmp eq i64 %125, 10
  br i1 %128, label %133, label %129

129:                                              ; preds = %124, %122
  %130 = phi i8 [ %127, %124 ], [ 102, %122 ]
  %131 = phi i64 [ %125, %124 ], [ 0, %122 ]
  %132 = icmp eq i8 %130, %87
  br i1 %132, label %133, label %124

133:                                              ; preds = %129, %124
  %134 = icmp ne i32 %84, 0
  %135 = icmp ne i8 %87, 99
  %136 = and i1 %134, %135
  %137 = select i1 %132, i1 true, i1 %136
  %138 = select i1 %137, i32 -8, i32 -4
  %139 = select i1 %137, i32 8, i32 4
  %140 = add i32 %79, -1
  %141 = add i32 %140, %139
  %142 = and i32 %141, %138
  %143 = add i32 %142, %139
  %144 = icmp eq i8 %87, 115
  br i1 %144, label %145, label %165

145:                                              ; preds = %133
  %146 = zext i32 %142 to i64
  %147 = getelementptr inbounds nuw i8, ptr %3, i64 %146
  %148 = load ptr, ptr %147, align 8
  %149 = icmp eq ptr %148, null
  br i1 %149, label %165, label %150

150:                                              ; preds = %145, %156
  %151 = phi i32 [ %157, %156 ], [ 0, %145 ]
  %152 = zext nneg i32 %151 to i64
  %153 = getelementptr inbounds nuw i8, ptr %148, i64 %152
  %154 = load i8, ptr %153, align 1
  %155 = icmp eq i8 %154, 0
  br i1 %155, label %159, label %156

156:                                              ; preds = %150
  %157 = add nuw nsw i32 %151, 1
  %158 = icmp eq i32 %157, 1024
  br i1 %158, label %159, label %150

159:                                              ; preds = %156, %150
  %160 = phi i32 [ 1024, %156 ], [ %151, %150 ]
  %161 = add nuw i32 %160, 3
  %162 = and i32 %161, -4
  %163 = add i32 %31, 4
  %164 = add i32 %163, %162
  br label %165

165:                                              ; preds = %106, %113, %159, %145, %133, %78
  %166 = phi i32 [ %31, %78 ], [ %31, %145 ], [ %31, %113 ], [ %31, %133 ], [ %164, %159 ], [ %31, %106 ]
  %167 = phi i32 [ %32, %78 ], [ %123, %145 ], [ %32, %113 ], [ %123, %133 ], [ %123, %159 ], [ %32, %106 ]
  %168 = phi i32 [ %79, %78 ], [ %143, %145 ], [ %79, %113 ], [ %143, %133 ], [ %143, %159 ], [ %79, %106 ]
  %169 = phi i1 [ true, %78 ], [ false, %145 ], [ false, %113 ], [ false, %133 ], [ false, %159 ], [ true, %106 ]
  %170 = phi i32 [ %80, %78 ], [ %112, %145 ], [ %112, %113 ], [ %112, %133 ], [ %112, %159 ], [ %29, %106 ]
  br i1 %169, label %171, label %30

171:                                              ; preds = %30, %165, %52
  %172 = phi i32 [ %31, %52 ], [ %31, %30 ], [ %166, %165 ]
  %173 = phi i32 [ %32, %52 ], [ %32, %30 ], [ %167, %165 ]
  %174 = phi i32 [ %33, %52 ], [ %33, %30 ], [ %168, %165 ]
  %175 = icmp eq i64 %0, 0
  br i1 %175, label %449, label %176

176:                                              ; preds = %171
  %177 = getelementptr inbounds nuw i8, ptr addrspace(1) %5, i64 8
  %178 = load i64, ptr addrspace(1) %177, align 8
  %179 = inttoptr i64 %178 to ptr addrspace(1)
  %180 = and i32 %17, 2147483640
  %181 = add nuw i32 %180, 8
  %182 = add i32 %174, 7
  %183 = and i32 %182, -8
  %184 = add i32 %183, %181
  %185 = add i32 %172, 63
  %186 = add i32 %185, %184
  %187 = and i32 %186, -16
  %188 = getelementptr inbounds nuw i8, ptr addrspace(1) %5, i64 24
  %189 = load i64, ptr addrspace(1) %188, align 8
  %190 = load atomic i64, ptr addrspace(1) %179 syncscope("agent") monotonic, align 8
  %191 = getelementptr inbounds nuw i8, ptr addrspace(1) %5, i64 16
  %192 = load i64, ptr addrspace(1) %191, align 8
  %193 = icmp eq i64 %192, 0
  br i1 %193, label %231, label %194

194:                                              ; preds = %176
  %195 = zext i32 %187 to i64
  %196 = icmp ult i64 %189, %195
  br i1 %196, label %231, label %197

197:                                              ; preds = %194
  %198 = getelementptr inbounds nuw i8, ptr addrspace(1) %179, i64 8
  br label %199

199:                                              ; preds = %211, %197
  %200 = phi i64 [ %214, %211 ], [ %190, %197 ]
  %201 = urem i64 %200, %189
  %202 = add i64 %200, %195
  %203 = add i64 %201, %195
  %204 = icmp ugt i64 %203, %189
  %205 = sub i64 %189, %201
  %206 = select i1 %204, i64 %205, i64 0
  %207 = add i64 %202, %206
  %208 = load atomic i64, ptr addrspace(1) %198 syncscope("agent") monotonic, align 8
  %209 = sub i64 %207, %208
  %210 = icmp ugt i64 %209, %189
  br i1 %210, label %231, label %211

211:                                              ; preds = %199
  %212 = cmpxchg ptr addrspace(1) %179, i64 %200, i64 %207 syncscope("agent") acq_rel monotonic, align 8
  %213 = extractvalue { i64, i1 } %212, 1
  %214 = extractvalue { i64, i1 } %212, 0
  br i1 %213, label %215, label %199

215:                                              ; preds = %211
  %216 = select i1 %204, i64 0, i64 %201
  %217 = sub i64 %207, %214
  %218 = icmp eq i64 %217, %195
  br i1 %218, label %227, label %219

219:                                              ; preds = %215
  %220 = load i64, ptr addrspace(1) %191, align 8
  %221 = urem i64 %214, %189
  %222 = add i64 %221, %220
  %223 = inttoptr i64 %222 to ptr addrspace(1)
  %224 = trunc i64 %217 to i32
  %225 = sub i32 %224, %187
  %226 = getelementptr inbounds nuw i8, ptr addrspace(1) %223, i64 4
  store i32 %225, ptr addrspace(1) %226, align 4
  store atomic i32 3, ptr addrspace(1) %223 syncscope("agent") release, align 8
  br label %227

227:                                              ; preds = %219, %215
  %228 = load i64, ptr addrspace(1) %191, align 8
  %229 = add i64 %228, %216
  %230 = inttoptr i64 %229 to ptr addrspace(1)
  br label %231

231:                                              ; preds = %199, %227, %194, %176
  %232 = phi ptr addrspace(1) [ %230, %227 ], [ null, %176 ], [ null, %194 ], [ null, %199 ]
  %233 = icmp eq ptr addrspace(1) %232, null
  br i1 %233, label %234, label %238

234:                                              ; preds = %231
  %235 = getelementptr inbounds nuw i8, ptr addrspace(1) %179, i64 16
  %236 = atomicrmw add ptr addrspace(1) %235, i64 1 syncscope("agent") monotonic, align 8
  %237 = getelementptr inbounds nuw i8, ptr addrspace(1) %5, i64 4
  store atomic i32 1, ptr addrspace(1) %237 release, align 4
  br label %257

238:                                              ; preds = %231
  %239 = getelementptr inbounds nuw i8, ptr addrspace(1) %232, i64 4
  store i32 %187, ptr addrspace(1) %239, align 4
  %240 = load i64, ptr %1, align 8
  %241 = getelementptr inbounds nuw i8, ptr addrspace(1) %232, i64 8
  store i64 %240, ptr addrspace(1) %241, align 8
  %242 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %243 = getelementptr inbounds nuw i8, ptr addrspace(1) %232, i64 16
  %244 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %245 = getelementptr inbounds nuw i8, ptr addrspace(1) %232, i64 28
  br label %246

246:                                              ; preds = %246, %238
  %247 = phi i32 [ 0, %238 ], [ %255, %246 ]
  %248 = zext nneg i32 %247 to i64
  %249 = getelementptr inbounds nuw i32, ptr %242, i64 %248
  %250 = load i32, ptr %249, align 4
  %251 = getelementptr inbounds nuw i32, ptr addrspace(1) %243, i64 %248
  store i32 %250, ptr addrspace(1) %251, align 4
  %252 = getelementptr inbounds nuw i32, ptr %244, i64 %248
  %253 = load i32, ptr %252, align 4
  %254 = getelementptr inbounds nuw i32, ptr addrspace(1) %245, i64 %248
  store i32 %253, ptr addrspace(1) %254, align 4
  %255 = add nuw nsw i32 %247, 1
  %256 = icmp eq i32 %255, 3
  br i1 %256, label %257, label %246

257:                                              ; preds = %246, %234
  br i1 %233, label %449, label %258

258:                                              ; preds = %257
  %259 = getelementptr inbounds nuw i8, ptr addrspace(1) %232, i64 48
  %260 = getelementptr inbounds nuw i8, ptr addrspace(1) %232, i64 40
  store i32 %18, ptr addrspace(1) %260, align 8
  %261 = getelementptr inbounds nuw i8, ptr addrspace(1) %232, i64 44
  store i32 %174, ptr addrspace(1) %261, align 4
  %262 = icmp eq i32 %17, 0
  br i1 %262, label %271, label %263

263:                                              ; preds = %258, %263
  %264 = phi i32 [ %269, %263 ], [ 0, %258 ]
  %265 = zext nneg i32 %264 to i64
  %266 = getelementptr inbounds nuw i8, ptr %2, i64 %265
  %267 = load i8, ptr %266, align 1
  %268 = getelementptr inbounds nuw i8, ptr addrspace(1) %259, i64 %265
  store i8 %267, ptr addrspace(1) %268, align 1
  %269 = add nuw nsw i32 %264, 1
  %270 = icmp eq i32 %269, %17
  br i1 %270, label %271, label %263

271:                                              ; preds = %263, %258
  %272 = zext nneg i32 %17 to i64
  %273 = getelementptr inbounds nuw i8, ptr addrspace(1) %259, i64 %272
  store i8 0, ptr addrspace(1) %273, align 1
  %274 = zext i32 %181 to i64
  %275 = getelementptr inbounds nuw i8, ptr addrspace(1) %259, i64 %274
  %276 = icmp eq i32 %174, 0
  br i1 %276, label %285, label %277

277:                                              ; preds = %271, %277
  %278 = phi i32 [ %283, %277 ], [ 0, %271 ]
  %279 = zext i32 %278 to i64
  %280 = getelementptr inbounds nuw i8, ptr %3, i64 %279
  %281 = load i8, ptr %280, align 1
  %282 = getelementptr inbounds nuw i8, ptr addrspace(1) %275, i64 %279
  store i8 %281, ptr addrspace(1) %282, align 1
  %283 = add nuw i32 %278, 1
  %284 = icmp eq i32 %283, %174
  br i1 %284, label %285, label %277

285:                                              ; preds = %277, %271
  br label %286

286:                                              ; preds = %285, %292
  %287 = phi i32 [ %293, %292 ], [ 0, %285 ]
  %288 = zext nneg i32 %287 to i64
  %289 = getelementptr inbounds nuw i8, ptr %2, i64 %288
  %290 = load i8, ptr %289, align 1
  %291 = icmp eq i8 %290, 0
  br i1 %291, label %295, label %292

292:                                              ; preds = %286
  %293 = add nuw nsw i32 %287, 1
  %294 = icmp eq i32 %293, 1024
  br i1 %294, label %295, label %286

295:                                              ; preds = %292, %286
  %296 = phi i32 [ 1024, %292 ], [ %287, %286 ]
  br label %297

297:                                              ; preds = %442, %295
  %298 = phi i32 [ %443, %442 ], [ %184, %295 ]
  %299 = phi i32 [ %444, %442 ], [ 0, %295 ]
  %300 = phi i32 [ %446, %442 ], [ 0, %295 ]
  %301 = icmp ult i32 %300, %296
  br i1 %301, label %302, label %447

302:                                              ; preds = %297, %318
  %303 = phi i32 [ %319, %318 ], [ %300, %297 ]
  %304 = add nuw i32 %303, 1
  %305 = zext i32 %303 to i64
  %306 = getelementptr inbounds nuw i8, ptr %2, i64 %305
  %307 = load i8, ptr %306, align 1
  %308 = icmp eq i8 %307, 37
  br i1 %308, label %309, label %318

309:                                              ; preds = %302
  %310 = icmp ult i32 %304, %296
  br i1 %310, label %311, label %344

311:                                              ; preds = %309
  %312 = zext i32 %304 to i64
  %313 = getelementptr inbounds nuw i8, ptr %2, i64 %312
  %314 = load i8, ptr %313, align 1
  %315 = icmp eq i8 %314, 37
  br i1 %315, label %316, label %321

316:                                              ; preds = %311
  %317 = add nuw i32 %303, 2
  br label %318

318:                                              ; preds = %316, %302
  %319 = phi i32 [ %304, %302 ], [ %317, %316 ]
  %320 = icmp ult i32 %319, %296
  br i1 %320, label %302, label %447

321:                                              ; preds = %311, %336
  %322 = phi i32 [ %342, %336 ], [ %304, %311 ]
  %323 = phi i32 [ %341, %336 ], [ %299, %311 ]
  %324 = zext i32 %322 to i64
  %325 = getelementptr inbounds nuw i8, ptr %2, i64 %324
  %326 = load i8, ptr %325, align 1
  br label %332

327:                                              ; preds = %332
  %328 = add nuw nsw i64 %334, 1
  %329 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str, i64 %328
  %330 = load i8, ptr addrspace(4) %329, align 1
  %331 = icmp eq i64 %328, 16
  br i1 %331, label %344, label %332

332:                                              ; preds = %327, %321
  %333 = phi i8 [ %330, %327 ], [ 45, %321 ]
  %334 = phi i64 [ %328, %327 ], [ 0, %321 ]
  %335 = icmp eq i8 %333, %326
  br i1 %335, label %336, label %327

336:                                              ; preds = %332
  %337 = icmp eq i8 %326, 42
  %338 = add i32 %323, 3
  %339 = and i32 %338, -4
  %340 = add i32 %339, 4
  %341 = select i1 %337, i32 %340, i32 %323
  %342 = add nuw nsw i32 %322, 1
  %343 = icmp ult i32 %342, %296
  br i1 %343, label %321, label %344

344:                                              ; preds = %309, %336, %327
  %345 = phi i32 [ %323, %327 ], [ %341, %336 ], [ %299, %309 ]
  %346 = phi i32 [ %322, %327 ], [ %296, %336 ], [ %304, %309 ]
  %347 = icmp ult i32 %346, %296
  br i1 %347, label %348, label %442

348:                                              ; preds = %344, %372
  %349 = phi i32 [ %375, %372 ], [ %346, %344 ]
  %350 = phi i32 [ %374, %372 ], [ 0, %344 ]
  %351 = zext i32 %349 to i64
  %352 = getelementptr inbounds nuw i8, ptr %2, i64 %351
  %353 = load i8, ptr %352, align 1
  br label %359

354:                                              ; preds = %359
  %355 = add nuw nsw i64 %361, 1
  %356 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str.1, i64 %355
  %357 = load i8, ptr addrspace(4) %356, align 1
  %358 = icmp eq i64 %355, 6
  br i1 %358, label %377, label %359

359:                                              ; preds = %354, %348
  %360 = phi i8 [ %357, %354 ], [ 104, %348 ]
  %361 = phi i64 [ %355, %354 ], [ 0, %348 ]
  %362 = icmp eq i8 %360, %353
  br i1 %362, label %368, label %354

363:                                              ; preds = %368
  %364 = add nuw nsw i64 %370, 1
  %365 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str.2, i64 %364
  %366 = load i8, ptr addrspace(4) %365, align 1
  %367 = icmp eq i64 %364, 4
  br i1 %367, label %372, label %368

368:                                              ; preds = %359, %363
  %369 = phi i8 [ %366, %363 ], [ 108, %359 ]
  %370 = phi i64 [ %364, %363 ], [ 0, %359 ]
  %371 = icmp eq i8 %369, %353
  br i1 %371, label %372, label %363

372:                                              ; preds = %368, %363
  %373 = phi i32 [ 0, %363 ], [ 1, %368 ]
  %374 = or i32 %373, %350
  %375 = add nuw nsw i32 %349, 1
  %376 = icmp ult i32 %375, %296
  br i1 %376, label %348, label %442

377:                                              ; preds = %354
  %378 = add nuw i32 %349, 1
  br label %384

379:                                              ; preds = %384
  %380 = add nuw nsw i64 %386, 1
  %381 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str.3, i64 %380
  %382 = load i8, ptr addrspace(4) %381, align 1
  %383 = icmp eq i64 %380, 17
  br i1 %383, label %442, label %384

384:                                              ; preds = %379, %377
  %385 = phi i8 [ %382, %379 ], [ 100, %377 ]
  %386 = phi i64 [ %380, %379 ], [ 0, %377 ]
  %387 = icmp eq i8 %385, %353
  br i1 %387, label %393, label %379

388:                                              ; preds = %393
  %389 = add nuw nsw i64 %395, 1
  %390 = getelementptr inbounds nuw i8, ptr addrspace(4) @.str.4, i64 %389
  %391 = load i8, ptr addrspace(4) %390, align 1
  %392 = icmp eq i64 %389, 10
  br i1 %392, label %397, label %393

393:                                              ; preds = %384, %388
  %394 = phi i8 [ %391, %388 ], [ 102, %384 ]
  %395 = phi i64 [ %389, %388 ], [ 0, %384 ]
  %396 = icmp eq i8 %394, %353
  br i1 %396, label %397, label %388

397:                                              ; preds = %393, %388
  %398 = icmp ne i32 %350, 0
  %399 = icmp ne i8 %353, 99
  %400 = and i1 %398, %399
  %401 = select i1 %396, i1 true, i1 %400
  %402 = select i1 %401, i32 -8, i32 -4
  %403 = select i1 %401, i32 8, i32 4
  %404 = add i32 %345, -1
  %405 = add i32 %404, %403
  %406 = and i32 %405, %402
  %407 = add i32 %406, %403
  %408 = icmp eq i8 %353, 115
  br i1 %408, label %409, label %442

409:                                              ; preds = %397
  %410 = zext i32 %406 to i64
  %411 = getelementptr inbounds nuw i8, ptr %3, i64 %410
  %412 = load ptr, ptr %411, align 8
  %413 = icmp eq ptr %412, null
  br i1 %413, label %442, label %414

414:                                              ; preds = %409, %420
  %415 = phi i32 [ %421, %420 ], [ 0, %409 ]
  %416 = zext nneg i32 %415 to i64
  %417 = getelementptr inbounds nuw i8, ptr %412, i64 %416
  %418 = load i8, ptr %417, align 1
  %419 = icmp eq i8 %418, 0
  br i1 %419, label %423, label %420

420:                                              ; preds = %414
  %421 = add nuw nsw i32 %415, 1
  %422 = icmp eq i32 %421, 1024
  br i1 %422, label %423, label %414

423:                                              ; preds = %420, %414
  %424 = phi i32 [ %415, %414 ], [ 1024, %420 ]
  %425 = zext i32 %298 to i64
  %426 = getelementptr inbounds nuw i8, ptr addrspace(1) %259, i64 %425
  store i32 %424, ptr addrspace(1) %426, align 4
  %427 = getelementptr inbounds nuw i8, ptr addrspace(1) %426, i64 4
  %428 = icmp eq i32 %424, 0
  br i1 %428, label %437, label %429

429:                                              ; preds = %423, %429
  %430 = phi i32 [ %435, %429 ], [ 0, %423 ]
  %431 = zext nneg i32 %430 to i64
  %432 = getelementptr inbounds nuw i8, ptr %412, i64 %431
  %433 = load i8, ptr %432, align 1
  %434 = getelementptr inbounds nuw i8, ptr addrspace(1) %427, i64 %431
  store i8 %433, ptr addrspace(1) %434, align 1
  %435 = add nuw nsw i32 %430, 1
  %436 = icmp eq i32 %435, %424
  br i1 %436, label %437, label %429

437:                                              ; preds = %429, %423
  %438 = add i32 %298, 4
  %439 = add nuw i32 %424, 3
  %440 = and i32 %439, -4
  %441 = add i32 %438, %440
  br label %442

442:                                              ; preds = %372, %379, %437, %409, %397, %344
  %443 = phi i32 [ %298, %344 ], [ %298, %409 ], [ %441, %437 ], [ %298, %397 ], [ %298, %379 ], [ %298, %372 ]
  %444 = phi i32 [ %345, %344 ], [ %407, %409 ], [ %407, %437 ], [ %407, %397 ], [ %345, %379 ], [ %345, %372 ]
  %445 = phi i1 [ true, %344 ], [ false, %409 ], [ false, %437 ], [ false, %397 ], [ false, %379 ], [ true, %372 ]
  %446 = phi i32 [ %346, %344 ], [ %378, %409 ], [ %378, %437 ], [ %378, %397 ], [ %378, %379 ], [ %296, %372 ]
  br i1 %445, label %447, label %297

447:                                              ; preds = %297, %442, %318
  store atomic i32 1, ptr addrspace(1) %232 syncscope("agent") release, align 8
  %448 = getelementptr inbounds nuw i8, ptr addrspace(1) %5, i64 4
  store atomic i32 1, ptr addrspace(1) %448 release, align 4
  br label %449

449:                                              ; preds = %171, %257, %447, %4
  %450 = phi i32 [ -1, %4 ], [ %173, %171 ], [ %173, %447 ], [ -2, %257 ]
  ret i32 %450
}

; Function Attrs: nofree noinline norecurse nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define linkonce_odr hidden void @aw_hip_stop(i64 noundef %0, ptr noundef readonly captures(none) %1, i32 noundef %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 {
  %6 = inttoptr i64 %0 to ptr addrspace(1)
  %7 = icmp eq i64 %0, 0
  br i1 %7, label %39, label %8

8:                                                ; preds = %5
  %9 = getelementptr inbounds nuw i8, ptr addrspace(1) %6, i64 8
  %10 = load i64, ptr addrspace(1) %9, align 8
  %11 = inttoptr i64 %10 to ptr addrspace(1)
  %12 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 32
  %13 = cmpxchg ptr addrspace(1) %12, i32 0, i32 %2 syncscope("agent") acq_rel monotonic, align 8
  %14 = extractvalue { i32, i1 } %13, 1
  br i1 %14, label %15, label %37

15:                                               ; preds = %8
  %16 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 36
  store i32 %3, ptr addrspace(1) %16, align 4
  %17 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 64
  store i32 %4, ptr addrspace(1) %17, align 8
  %18 = load i64, ptr %1, align 8
  %19 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 72
  store i64 %18, ptr addrspace(1) %19, align 8
  %20 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %21 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 40
  %22 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %23 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 52
  br label %26

24:                                               ; preds = %26
  %25 = getelementptr inbounds nuw i8, ptr addrspace(1) %11, i64 68
  store atomic i32 1, ptr addrspace(1) %25 syncscope("agent") release, align 4
  br label %37

26:                                               ; preds = %15, %26
  %27 = phi i32 [ 0, %15 ], [ %35, %26 ]
  %28 = zext nneg i32 %27 to i64
  %29 = getelementptr inbounds nuw i32, ptr %20, i64 %28
  %30 = load i32, ptr %29, align 4
  %31 = getelementptr inbounds nuw i32, ptr addrspace(1) %21, i64 %28
  store i32 %30, ptr addrspace(1) %31, align 4
  %32 = getelementptr inbounds nuw i32, ptr %22, i64 %28
  %33 = load i32, ptr %32, align 4
  %34 = getelementptr inbounds nuw i32, ptr addrspace(1) %23, i64 %28
  store i32 %33, ptr addrspace(1) %34, align 4
  %35 = add nuw nsw i32 %27, 1
  %36 = icmp eq i32 %35, 3
  br i1 %36, label %24, label %26

37:                                               ; preds = %24, %8
  %38 = getelementptr inbounds nuw i8, ptr addrspace(1) %6, i64 4
  store atomic i32 1, ptr addrspace(1) %38 release, align 4
  br label %39

39:                                               ; preds = %5, %37
  ret void
}

; Function Attrs: nofree noinline norecurse nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define linkonce_odr hidden void @aw_hip_assertfail(i64 noundef %0, ptr noundef readonly captures(none) %1, ptr noundef %2, ptr noundef %3, i32 noundef %4, ptr noundef %5) local_unnamed_addr #0 {
  %7 = inttoptr i64 %0 to ptr addrspace(1)
  %8 = icmp eq i64 %0, 0
  br i1 %8, label %155, label %9

9:                                                ; preds = %6
  %10 = insertelement <3 x ptr> poison, ptr %2, i64 0
  %11 = insertelement <3 x ptr> %10, ptr %3, i64 1
  %12 = insertelement <3 x ptr> %11, ptr %5, i64 2
  br label %89

13:                                               ; preds = %108
  %14 = getelementptr inbounds nuw i8, ptr addrspace(1) %7, i64 8
  %15 = load i64, ptr addrspace(1) %14, align 8
  %16 = inttoptr i64 %15 to ptr addrspace(1)
  %17 = add i32 %110, 15
  %18 = and i32 %17, -16
  %19 = getelementptr inbounds nuw i8, ptr addrspace(1) %7, i64 24
  %20 = load i64, ptr addrspace(1) %19, align 8
  %21 = load atomic i64, ptr addrspace(1) %16 syncscope("agent") monotonic, align 8
  %22 = getelementptr inbounds nuw i8, ptr addrspace(1) %7, i64 16
  %23 = load i64, ptr addrspace(1) %22, align 8
  %24 = icmp eq i64 %23, 0
  br i1 %24, label %62, label %25

25:                                               ; preds = %13
  %26 = zext i32 %18 to i64
  %27 = icmp ult i64 %20, %26
  br i1 %27, label %62, label %28

28:                                               ; preds = %25
  %29 = getelementptr inbounds nuw i8, ptr addrspace(1) %16, i64 8
  br label %30

30:                                               ; preds = %42, %28
  %31 = phi i64 [ %45, %42 ], [ %21, %28 ]
  %32 = urem i64 %31, %20
  %33 = add i64 %31, %26
  %34 = add i64 %32, %26
  %35 = icmp ugt i64 %34, %20
  %36 = sub i64 %20, %32
  %37 = select i1 %35, i64 %36, i64 0
  %38 = add i64 %33, %37
  %39 = load atomic i64, ptr addrspace(1) %29 syncscope("agent") monotonic, align 8
  %40 = sub i64 %38, %39
  %41 = icmp ugt i64 %40, %20
  br i1 %41, label %62, label %42

42:                                               ; preds = %30
  %43 = cmpxchg ptr addrspace(1) %16, i64 %31, i64 %38 syncscope("agent") acq_rel monotonic, align 8
  %44 = extractvalue { i64, i1 } %43, 1
  %45 = extractvalue { i64, i1 } %43, 0
  br i1 %44, label %46, label %30

46:                                               ; preds = %42
  %47 = select i1 %35, i64 0, i64 %32
  %48 = sub i64 %38, %45
  %49 = icmp eq i64 %48, %26
  br i1 %49, label %58, label %50

50:                                               ; preds = %46
  %51 = load i64, ptr addrspace(1) %22, align 8
  %52 = urem i64 %45, %20
  %53 = add i64 %52, %51
  %54 = inttoptr i64 %53 to ptr addrspace(1)
  %55 = trunc i64 %48 to i32
  %56 = sub i32 %55, %18
  %57 = getelementptr inbounds nuw i8, ptr addrspace(1) %54, i64 4
  store i32 %56, ptr addrspace(1) %57, align 4
  store atomic i32 3, ptr addrspace(1) %54 syncscope("agent") release, align 8
  br label %58

58:                                               ; preds = %50, %46
  %59 = load i64, ptr addrspace(1) %22, align 8
  %60 = add i64 %59, %47
  %61 = inttoptr i64 %60 to ptr addrspace(1)
  br label %62

62:                                               ; preds = %30, %58, %25, %13
  %63 = phi ptr addrspace(1) [ %61, %58 ], [ null, %13 ], [ null, %25 ], [ null, %30 ]
  %64 = icmp eq ptr addrspace(1) %63, null
  br i1 %64, label %65, label %69

65:                                               ; preds = %62
  %66 = getelementptr inbounds nuw i8, ptr addrspace(1) %16, i64 16
  %67 = atomicrmw add ptr addrspace(1) %66, i64 1 syncscope("agent") monotonic, align 8
  %68 = getelementptr inbounds nuw i8, ptr addrspace(1) %7, i64 4
  store atomic i32 1, ptr addrspace(1) %68 release, align 4
  br label %88

69:                                               ; preds = %62
  %70 = getelementptr inbounds nuw i8, ptr addrspace(1) %63, i64 4
  store i32 %18, ptr addrspace(1) %70, align 4
  %71 = load i64, ptr %1, align 8
  %72 = getelementptr inbounds nuw i8, ptr addrspace(1) %63, i64 8
  store i64 %71, ptr addrspace(1) %72, align 8
  %73 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %74 = getelementptr inbounds nuw i8, ptr addrspace(1) %63, i64 16
  %75 = getelementptr inbounds nuw i8, ptr %1, i64 20
  %76 = getelementptr inbounds nuw i8, ptr addrspace(1) %63, i64 28
  br label %77

77:                                               ; preds = %77, %69
  %78 = phi i32 [ 0, %69 ], [ %86, %77 ]
  %79 = zext nneg i32 %78 to i64
  %80 = getelementptr inbounds nuw i32, ptr %73, i64 %79
  %81 = load i32, ptr %80, align 4
  %82 = getelementptr inbounds nuw i32, ptr addrspace(1) %74, i64 %79
  store i32 %81, ptr addrspace(1) %82, align 4
  %83 = getelementptr inbounds nuw i32, ptr %75, i64 %79
  %84 = load i32, ptr %83, align 4
  %85 = getelementptr inbounds nuw i32, ptr addrspace(1) %76, i64 %79
  store i32 %84, ptr addrspace(1) %85, align 4
  %86 = add nuw nsw i32 %78, 1
  %87 = icmp eq i32 %86, 3
  br i1 %87, label %88, label %77

88:                                               ; preds = %77, %65
  br i1 %64, label %154, label %113

89:                                               ; preds = %9, %108
  %90 = phi i32 [ 0, %9 ], [ %111, %108 ]
  %91 = phi i32 [ 48, %9 ], [ %110, %108 ]
  %92 = extractelement <3 x ptr> %12, i32 %90
  %93 = icmp eq ptr %92, null
  br i1 %93, label %108, label %94

94:                                               ; preds = %89, %100
  %95 = phi i32 [ %101, %100 ], [ 0, %89 ]
  %96 = zext nneg i32 %95 to i64
  %97 = getelementptr inbounds nuw i8, ptr %92, i64 %96
  %98 = load i8, ptr %97, align 1
  %99 = icmp eq i8 %98, 0
  br i1 %99, label %103, label %100

100:                                              ; preds = %94
  %101 = add nuw nsw i32 %95, 1
  %102 = icmp eq i32 %101, 1024
  br i1 %102, label %103, label %94

103:                                              ; preds = %94, %100
  %104 = phi i32 [ 1024, %100 ], [ %95, %94 ]
  %105 = add nuw i32 %104, 3
  %106 = and i32 %105, -4
  %107 = add i32 %106, 4
  br label %108

108:                                              ; preds = %89, %103
  %109 = phi i32 [ %107, %103 ], [ 4, %89 ]
  %110 = add i32 %109, %91
  %111 = add nuw nsw i32 %90, 1
  %112 = icmp eq i32 %111, 3
  br i1 %112, label %13, label %89

113:                                              ; preds = %88
  %114 = getelementptr inbounds nuw i8, ptr addrspace(1) %63, i64 40
  store i32 0, ptr addrspace(1) %114, align 8
  %115 = getelementptr inbounds nuw i8, ptr addrspace(1) %63, i64 44
  store i32 %4, ptr addrspace(1) %115, align 4
  %116 = getelementptr inbounds nuw i8, ptr addrspace(1) %63, i64 48
  br label %119

117:                                              ; preds = %147
  store atomic i32 2, ptr addrspace(1) %63 syncscope("agent") release, align 8
  %118 = getelementptr inbounds nuw i8, ptr addrspace(1) %7, i64 4
  store atomic i32 1, ptr addrspace(1) %118 release, align 4
  br label %154

119:                                              ; preds = %113, %147
  %120 = phi i32 [ 0, %113 ], [ %152, %147 ]
  %121 = phi i32 [ 0, %113 ], [ %151, %147 ]
  %122 = extractelement <3 x ptr> %12, i32 %120
  %123 = icmp eq ptr %122, null
  br i1 %123, label %133, label %124

124:                                              ; preds = %119, %130
  %125 = phi i32 [ %131, %130 ], [ 0, %119 ]
  %126 = zext nneg i32 %125 to i64
  %127 = getelementptr inbounds nuw i8, ptr %122, i64 %126
  %128 = load i8, ptr %127, align 1
  %129 = icmp eq i8 %128, 0
  br i1 %129, label %133, label %130

130:                                              ; preds = %124
  %131 = add nuw nsw i32 %125, 1
  %132 = icmp eq i32 %131, 1024
  br i1 %132, label %133, label %124

133:                                              ; preds = %130, %124, %119
  %134 = phi i32 [ 0, %119 ], [ 1024, %130 ], [ %125, %124 ]
  %135 = zext i32 %121 to i64
  %136 = getelementptr inbounds nuw i8, ptr addrspace(1) %116, i64 %135
  store i32 %134, ptr addrspace(1) %136, align 4
  %137 = getelementptr inbounds nuw i8, ptr addrspace(1) %136, i64 4
  %138 = icmp eq i32 %134, 0
  br i1 %138, label %147, label %139

139:                                              ; preds = %133, %139
  %140 = phi i32 [ %145, %139 ], [ 0, %133 ]
  %141 = zext nneg i32 %140 to i64
  %142 = getelementptr inbounds nuw i8, ptr %122, i64 %141
  %143 = load i8, ptr %142, align 1
  %144 = getelementptr inbounds nuw i8, ptr addrspace(1) %137, i64 %141
  store i8 %143, ptr addrspace(1) %144, align 1
  %145 = add nuw nsw i32 %140, 1
  %146 = icmp eq i32 %145, %134
  br i1 %146, label %147, label %139

147:                                              ; preds = %139, %133
  %148 = add i32 %121, 4
  %149 = add nuw i32 %134, 3
  %150 = and i32 %149, -4
  %151 = add i32 %148, %150
  %152 = add nuw nsw i32 %120, 1
  %153 = icmp eq i32 %152, 3
  br i1 %153, label %117, label %119

154:                                              ; preds = %117, %88
  tail call void @aw_hip_stop(i64 noundef %0, ptr noundef %1, i32 noundef 2, i32 noundef 0, i32 noundef %4) #4
  br label %155

155:                                              ; preds = %6, %154
  ret void
}

; Function Attrs: nofree noinline norecurse nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define linkonce_odr hidden range(i64 17, 16) i64 @aw_hip_malloc(i64 noundef %0, i64 noundef %1) local_unnamed_addr #0 {
  %3 = inttoptr i64 %0 to ptr addrspace(1)
  %4 = icmp eq i64 %0, 0
  br i1 %4, label %143, label %5

5:                                                ; preds = %2
  %6 = getelementptr inbounds nuw i8, ptr addrspace(1) %3, i64 32
  %7 = load i64, ptr addrspace(1) %6, align 8
  %8 = icmp eq i64 %7, 0
  %9 = icmp eq i64 %1, 0
  %10 = or i1 %9, %8
  br i1 %10, label %143, label %11

11:                                               ; preds = %5
  %12 = getelementptr inbounds nuw i8, ptr addrspace(1) %3, i64 40
  %13 = load i64, ptr addrspace(1) %12, align 8
  %14 = icmp ugt i64 %1, %13
  br i1 %14, label %143, label %15

15:                                               ; preds = %11
  %16 = getelementptr inbounds nuw i8, ptr addrspace(1) %3, i64 8
  %17 = load i64, ptr addrspace(1) %16, align 8
  %18 = inttoptr i64 %17 to ptr addrspace(1)
  br label %19

19:                                               ; preds = %31, %15
  %20 = phi i32 [ 0, %15 ], [ %32, %31 ]
  %21 = and i32 %20, 1
  %22 = icmp eq i32 %21, 0
  %23 = select i1 %22, i64 16, i64 24
  %24 = lshr i32 %20, 1
  %25 = zext nneg i32 %24 to i64
  %26 = shl nuw nsw i64 %23, %25
  %27 = icmp uge i64 %26, %1
  %28 = and i64 %26, 8
  %29 = icmp eq i64 %28, 0
  %30 = and i1 %27, %29
  br i1 %30, label %34, label %31

31:                                               ; preds = %19
  %32 = add nuw nsw i32 %20, 1
  %33 = icmp eq i32 %32, 63
  br i1 %33, label %34, label %19

34:                                               ; preds = %19, %31
  %35 = phi i32 [ %20, %19 ], [ 63, %31 ]
  %36 = getelementptr inbounds nuw i8, ptr addrspace(1) %18, i64 128
  %37 = zext nneg i32 %35 to i64
  %38 = getelementptr inbounds nuw i64, ptr addrspace(1) %36, i64 %37
  %39 = load atomic i64, ptr addrspace(1) %38 syncscope("agent") monotonic, align 8
  %40 = add i64 %7, -16
  br label %41

41:                                               ; preds = %45, %34
  %42 = phi i64 [ %39, %34 ], [ %57, %45 ]
  %43 = and i64 %42, 1099511627775
  %44 = icmp eq i64 %43, 0
  br i1 %44, label %62, label %45

45:                                               ; preds = %41
  %46 = shl nuw nsw i64 %43, 4
  %47 = add i64 %46, %40
  %48 = inttoptr i64 %47 to ptr addrspace(1)
  %49 = and i64 %42, -1099511627776
  %50 = add i64 %49, 1099511627776
  %51 = getelementptr inbounds nuw i8, ptr addrspace(1) %48, i64 8
  %52 = load atomic i64, ptr addrspace(1) %51 syncscope("agent") monotonic, align 8
  %53 = and i64 %52, 1099511627775
  %54 = or disjoint i64 %53, %50
  %55 = cmpxchg ptr addrspace(1) %38, i64 %42, i64 %54 syncscope("agent") acq_rel monotonic, align 8
  %56 = extractvalue { i64, i1 } %55, 1
  %57 = extractvalue { i64, i1 } %55, 0
  br i1 %56, label %58, label %41

58:                                               ; preds = %45
  %59 = shl i64 %57, 4
  %60 = and i64 %59, 17592186044400
  %61 = add i64 %60, %40
  br label %62

62:                                               ; preds = %41, %58
  %63 = phi i64 [ %61, %58 ], [ 0, %41 ]
  %64 = and i32 %35, 1
  %65 = icmp eq i32 %64, 0
  %66 = select i1 %65, i64 16, i64 24
  %67 = lshr i32 %35, 1
  %68 = zext nneg i32 %67 to i64
  %69 = shl i64 %66, %68
  %70 = add i64 %69, 16
  %71 = icmp eq i64 %63, 0
  br i1 %71, label %72, label %94

72:                                               ; preds = %62
  %73 = getelementptr inbounds nuw i8, ptr addrspace(1) %18, i64 80
  %74 = load atomic i64, ptr addrspace(1) %73 syncscope("agent") monotonic, align 8
  %75 = add i64 %70, %74
  %76 = load i64, ptr addrspace(1) %12, align 8
  %77 = icmp ugt i64 %75, %76
  br i1 %77, label %94, label %78

78:                                               ; preds = %72, %87
  %79 = phi i64 [ %89, %87 ], [ %75, %72 ]
  %80 = phi i64 [ %83, %87 ], [ %74, %72 ]
  %81 = cmpxchg ptr addrspace(1) %73, i64 %80, i64 %79 syncscope("agent") acq_rel monotonic, align 8
  %82 = extractvalue { i64, i1 } %81, 1
  %83 = extractvalue { i64, i1 } %81, 0
  br i1 %82, label %84, label %87

84:                                               ; preds = %78
  %85 = load i64, ptr addrspace(1) %6, align 8
  %86 = add i64 %85, %83
  br label %87

87:                                               ; preds = %84, %78
  %88 = phi i64 [ %86, %84 ], [ 0, %78 ]
  %89 = add i64 %70, %83
  %90 = load i64, ptr addrspace(1) %12, align 8
  %91 = icmp ule i64 %89, %90
  %92 = icmp eq i64 %88, 0
  %93 = select i1 %91, i1 %92, i1 false
  br i1 %93, label %78, label %94

94:                                               ; preds = %87, %72, %62
  %95 = phi i64 [ %63, %62 ], [ 0, %72 ], [ %88, %87 ]
  %96 = icmp eq i64 %95, 0
  %97 = icmp samesign ult i32 %35, 63
  %98 = select i1 %96, i1 %97, i1 false
  br i1 %98, label %103, label %99

99:                                               ; preds = %133, %94
  %100 = phi i64 [ %95, %94 ], [ %134, %133 ]
  %101 = phi i32 [ %35, %94 ], [ %136, %133 ]
  %102 = phi i1 [ %96, %94 ], [ %135, %133 ]
  br i1 %102, label %143, label %139

103:                                              ; preds = %94, %133
  %104 = phi i32 [ %106, %133 ], [ %35, %94 ]
  %105 = phi i32 [ %136, %133 ], [ %35, %94 ]
  %106 = add nuw nsw i32 %104, 1
  %107 = load i64, ptr addrspace(1) %6, align 8
  %108 = zext nneg i32 %106 to i64
  %109 = getelementptr inbounds nuw i64, ptr addrspace(1) %36, i64 %108
  %110 = load atomic i64, ptr addrspace(1) %109 syncscope("agent") monotonic, align 8
  %111 = add i64 %107, -16
  br label %112

112:                                              ; preds = %116, %103
  %113 = phi i64 [ %110, %103 ], [ %128, %116 ]
  %114 = and i64 %113, 1099511627775
  %115 = icmp eq i64 %114, 0
  br i1 %115, label %133, label %116

116:                                              ; preds = %112
  %117 = shl nuw nsw i64 %114, 4
  %118 = add i64 %117, %111
  %119 = inttoptr i64 %118 to ptr addrspace(1)
  %120 = and i64 %113, -1099511627776
  %121 = add i64 %120, 1099511627776
  %122 = getelementptr inbounds nuw i8, ptr addrspace(1) %119, i64 8
  %123 = load atomic i64, ptr addrspace(1) %122 syncscope("agent") monotonic, align 8
  %124 = and i64 %123, 1099511627775
  %125 = or disjoint i64 %124, %121
  %126 = cmpxchg ptr addrspace(1) %109, i64 %113, i64 %125 syncscope("agent") acq_rel monotonic, align 8
  %127 = extractvalue { i64, i1 } %126, 1
  %128 = extractvalue { i64, i1 } %126, 0
  br i1 %127, label %129, label %112

129:                                              ; preds = %116
  %130 = shl i64 %128, 4
  %131 = and i64 %130, 17592186044400
  %132 = add i64 %131, %111
  br label %133

133:                                              ; preds = %112, %129
  %134 = phi i64 [ %132, %129 ], [ 0, %112 ]
  %135 = icmp eq i64 %134, 0
  %136 = select i1 %135, i32 %105, i32 %106
  %137 = icmp samesign ult i32 %104, 62
  %138 = and i1 %135, %137
  br i1 %138, label %103, label %99

139:                                              ; preds = %99
  %140 = add i64 %100, 16
  %141 = inttoptr i64 %100 to ptr addrspace(1)
  %142 = getelementptr inbounds nuw i8, ptr addrspace(1) %141, i64 4
  store i32 %101, ptr addrspace(1) %142, align 4
  store atomic i32 1977983260, ptr addrspace(1) %141 syncscope("agent") release, align 8
  br label %143

143:                                              ; preds = %139, %99, %2, %5, %11
  %144 = phi i64 [ 0, %2 ], [ 0, %11 ], [ 0, %5 ], [ %140, %139 ], [ 0, %99 ]
  ret i64 %144
}

; Function Attrs: nofree noinline norecurse nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define linkonce_odr hidden void @aw_hip_free(i64 noundef %0, i64 noundef %1) local_unnamed_addr #0 {
  %3 = inttoptr i64 %0 to ptr addrspace(1)
  %4 = icmp ne i64 %1, 0
  %5 = icmp ne i64 %0, 0
  %6 = and i1 %5, %4
  br i1 %6, label %7, label %53

7:                                                ; preds = %2
  %8 = getelementptr inbounds nuw i8, ptr addrspace(1) %3, i64 8
  %9 = load i64, ptr addrspace(1) %8, align 8
  %10 = inttoptr i64 %9 to ptr addrspace(1)
  %11 = add i64 %1, -16
  %12 = inttoptr i64 %11 to ptr addrspace(1)
  %13 = and i64 %1, 15
  %14 = icmp eq i64 %13, 0
  br i1 %14, label %15, label %27

15:                                               ; preds = %7
  %16 = getelementptr inbounds nuw i8, ptr addrspace(1) %3, i64 32
  %17 = load i64, ptr addrspace(1) %16, align 8
  %18 = icmp ult i64 %11, %17
  br i1 %18, label %27, label %19

19:                                               ; preds = %15
  %20 = getelementptr inbounds nuw i8, ptr addrspace(1) %10, i64 80
  %21 = load atomic i64, ptr addrspace(1) %20 syncscope("agent") monotonic, align 8
  %22 = add i64 %21, %17
  %23 = icmp ult i64 %1, %22
  br i1 %23, label %24, label %27

24:                                               ; preds = %19
  %25 = cmpxchg ptr addrspace(1) %12, i32 1977983260, i32 -185683700 syncscope("agent") acq_rel monotonic, align 8
  %26 = extractvalue { i32, i1 } %25, 1
  br i1 %26, label %31, label %27

27:                                               ; preds = %24, %19, %15, %7
  %28 = getelementptr inbounds nuw i8, ptr addrspace(1) %10, i64 24
  %29 = atomicrmw add ptr addrspace(1) %28, i64 1 syncscope("agent") monotonic, align 8
  %30 = getelementptr inbounds nuw i8, ptr addrspace(1) %3, i64 4
  store atomic i32 1, ptr addrspace(1) %30 release, align 4
  br label %53

31:                                               ; preds = %24
  %32 = getelementptr inbounds nuw i8, ptr addrspace(1) %12, i64 4
  %33 = load i32, ptr addrspace(1) %32, align 4
  %34 = and i32 %33, 63
  %35 = getelementptr inbounds nuw i8, ptr addrspace(1) %10, i64 128
  %36 = zext nneg i32 %34 to i64
  %37 = getelementptr inbounds nuw i64, ptr addrspace(1) %35, i64 %36
  %38 = load atomic i64, ptr addrspace(1) %37 syncscope("agent") monotonic, align 8
  %39 = getelementptr inbounds nuw i8, ptr addrspace(1) %12, i64 8
  br label %40

40:                                               ; preds = %40, %31
  %41 = phi i64 [ %38, %31 ], [ %52, %40 ]
  %42 = and i64 %41, 1099511627775
  store atomic i64 %42, ptr addrspace(1) %39 syncscope("agent") monotonic, align 8
  %43 = and i64 %41, -1099511627776
  %44 = add i64 %43, 1099511627776
  %45 = load i64, ptr addrspace(1) %16, align 8
  %46 = sub i64 %11, %45
  %47 = lshr i64 %46, 4
  %48 = add nuw nsw i64 %47, 1
  %49 = or i64 %48, %44
  %50 = cmpxchg ptr addrspace(1) %37, i64 %41, i64 %49 syncscope("agent") acq_rel monotonic, align 8
  %51 = extractvalue { i64, i1 } %50, 1
  %52 = extractvalue { i64, i1 } %50, 0
  br i1 %51, label %53, label %40

53:                                               ; preds = %40, %27, %2
  ret void
}

; Function Attrs: nofree noinline norecurse nosync nounwind
define linkonce_odr hidden void @aw_hip_nanosleep(i32 noundef %0) local_unnamed_addr #1 {
  %2 = tail call i64 @llvm.readsteadycounter()
  %3 = tail call i32 @llvm.umin.i32(i32 %0, i32 1000000)
  %4 = udiv i32 %3, 10
  %5 = zext nneg i32 %4 to i64
  %6 = tail call i64 @llvm.readsteadycounter()
  %7 = sub i64 %6, %2
  %8 = icmp ult i64 %7, %5
  br i1 %8, label %9, label %13

9:                                                ; preds = %1, %9
  tail call void @llvm.amdgcn.s.sleep(i32 1)
  %10 = tail call i64 @llvm.readsteadycounter()
  %11 = sub i64 %10, %2
  %12 = icmp ult i64 %11, %5
  br i1 %12, label %9, label %13

13:                                               ; preds = %9, %1
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn
declare i64 @llvm.readsteadycounter() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn
declare void @llvm.amdgcn.s.sleep(i32 immarg) #2

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.umin.i32(i32, i32) #3

attributes #0 = { nofree noinline norecurse nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "no-builtins" "no-trapping-math"="true" }
attributes #1 = { nofree noinline norecurse nosync nounwind "no-builtins" "no-trapping-math"="true" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind willreturn }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nobuiltin "no-builtins" }


